//go:build !unix

package store

import "io/fs"

// owner returns false: this system does not tell.
func owner(fs.FileInfo) (uid int, ok bool) { return 0, false }
