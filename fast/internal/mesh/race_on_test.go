//go:build race

package mesh

const raceDetector = true // makes handshakes ten times slower
