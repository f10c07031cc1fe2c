// Package events defines, writes and reads the event logs of a job. Each rank logs the steps of its protocols to a
// file. The events can be replayed on the schedules of the calls (collgen replay), or checked against a model.
//
// A file is lines of JSON: a Header, and then one Event per line. The events of a rank are numbered from 1 in the order
// in which they happened. Only their contents order events of different ranks. An event is written before others can
// see its effect, so that even the file of a process that was killed has everything that others have seen of it.
//
// Only programs that were built with the tag collgen_events write events. In all others On is false, and the code
// behind it is not compiled.
package events
