// Package mesh is how the processes of a job talk beside the data path, and know of each other's end.
//
// Every two processes have one control connection: an abstract unix socket on the same host, which passes files too,
// and TCP otherwise; both ends are authenticated by package secure, or by the first process of their host, which makes
// the connections of those that share a secret. Over it go short messages and heartbeats; those of a process of the
// same host are counted in memory instead. A process is down at the end of its connection, or when nothing came from it
// for a while although this process was running and, where the system tells, that one was not kept from it; who is down
// stays down, and is told so should it come back. Connections for data are made on demand and handed out: the mesh
// looks after control connections alone, so a process whose data flow slowly is not taken for a dead one.
//
// Processes find each other by cards, which they publish in a store. When all are on one host, no port is opened.
package mesh
