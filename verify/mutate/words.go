package main

import (
	"regexp"
	"strings"
)

var (
	failed = regexp.MustCompile(`^\s*--- FAIL: (\S+)`)
	reason = regexp.MustCompile(`^\s+\S+\.go:\d+: (.+)|^((?:panic|fatal error|SIGXCPU): .+)`)
)

const wordsLength = 300 // limit for the text of a failure

// words returns the first reason that a failed go command prints: the test and its message.
func words(output string) string {
	test, last := "", ""
	for line := range strings.Lines(output) {
		if m := failed.FindStringSubmatch(line); m != nil {
			test = m[1] + ": "
		}
		if m := reason.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			return test + oneLine(m[1]+m[2], wordsLength)
		}
		if words := strings.TrimSpace(line); words != "" && words != "FAIL" && !strings.HasPrefix(words, "exit status") {
			last = words
		}
	}
	return test + oneLine(last, wordsLength)
}

// ofError returns the text of an error on one line.
func ofError(err error) string { return oneLine(err.Error(), wordsLength) }
