//go:build !race

package verify_test

const raceDetector = false
