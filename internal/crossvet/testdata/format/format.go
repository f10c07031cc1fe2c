// Package format prints text as a number on one platform.
package format
