//go:build !race

package cost_test

const raceDetector = false
