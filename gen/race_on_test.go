//go:build race

package gen

const raceDetector = true // makes schedules ten times slower
