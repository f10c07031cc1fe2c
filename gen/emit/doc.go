// Package emit prints specifications, algorithms and schedules: as Go for package fast, as text for people,
// and as modules of TLA+ for checkers of models.
package emit
