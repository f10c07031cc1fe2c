//go:build race

package gen_test

const raceDetector = true // makes schedules ten times slower
