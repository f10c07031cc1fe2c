// Package events is the form in which the ranks of a job write down what their protocols do, one file for each rank,
// and the writer and the reader of it. What is written can be replayed on the schedules of the calls, event by event
// (collgen replay), or checked against a model.
//
// A file is lines of JSON: a Header, and then one Event each. The events of a rank are numbered from 1 in the order in
// which they happened there; nothing orders those of different ranks but what they say. What others can see happens
// after its event was written, so that also the file of a process that was killed has all that others have seen of it.
//
// Events are written by programs that were built with the tag collgen_events. In all others On is false, and what
// stands behind it is not compiled.
package events
