// Package edit makes mistakes in the events of a rank, for tests of programs that have to refuse such traces. Its
// functions return a changed copy.
package edit

import (
	"encoding/json"
	"slices"

	"github.com/collgen/collgen/internal/events"
)

// Drop returns all without element i.
func Drop[E any](all []E, i int) []E { return slices.Delete(slices.Clone(all), i, i+1) }

// Double returns all with element i twice.
func Double[E any](all []E, i int) []E { return slices.Insert(slices.Clone(all), i, all[i]) }

// Swap returns all with elements i and i+1 exchanged.
func Swap[E any](all []E, i int) []E {
	swapped := slices.Clone(all)
	swapped[i], swapped[i+1] = all[i+1], all[i]
	return swapped
}

// Change returns all with a change of event i, which shares no memory with the original.
func Change(all []events.Event, i int, change func(e *events.Event)) []events.Event {
	changed := slices.Clone(all)
	changed[i] = events.Event{}
	text, err := json.Marshal(&all[i])
	if err == nil {
		err = json.Unmarshal(text, &changed[i])
	}
	if err != nil {
		panic(err) // an Event consists of numbers and texts
	}
	change(&changed[i])
	return changed
}
