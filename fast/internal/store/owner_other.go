//go:build !unix

package store

import "io/fs"

// owner is not known here.
func owner(fs.FileInfo) (uid int, ok bool) { return 0, false }
