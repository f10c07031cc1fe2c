//go:build !race

package colltest_test

const raceDetector = false
