// Package jobtest tests package fast from outside: by jobs whose ranks are processes that are killed, stopped or
// starved of processors, and over RDMA devices.
package jobtest
