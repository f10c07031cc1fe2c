package main

// reasons say why a mutant of source code survives that is no mistake, or that no test can be asked to find.
var reasons = map[string]string{}
