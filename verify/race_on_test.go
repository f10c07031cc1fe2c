//go:build race

package verify_test

const raceDetector = true // makes the proofs ten times slower
