// Package pointer makes a pointer of a number on one platform.
package pointer
