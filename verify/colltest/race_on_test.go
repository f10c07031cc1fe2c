//go:build race

package colltest_test

const raceDetector = true // it reports who writes to an input that is read meanwhile
