//go:build race

package cost_test

const raceDetector = true // makes schedules ten times slower
