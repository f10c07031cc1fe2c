// Package emit prints specifications, algorithms and schedules: as Go for package fast, and as text for people.
package emit
