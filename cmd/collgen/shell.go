package main

import "strings"

// plain are the characters, besides letters and digits, that a shell takes as they are.
const plain = "_-./=:,@%+"

// quoted is word as a shell takes it.
func quoted(word string) string {
	isSpecial := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(plain, r))
	}
	if word != "" && !strings.ContainsFunc(word, isSpecial) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
