//go:build !race

package gen_test

const raceDetector = false
