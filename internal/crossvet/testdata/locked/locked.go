// Package locked copies a lock on one platform.
package locked
