package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// How long to wait before looking for a file again.
const (
	minPollDelay = time.Millisecond
	maxPollDelay = 50 * time.Millisecond
)

// File is a store in a directory that all processes see and only this user may enter. It has one file per value, of
// mode 0600, which is complete as soon as it has its name. A directory on a network works too, but Get may see a value
// late, by as long as the file system caches directories.
type File struct {
	root *os.Root
	path string
}

// madeMark is a file that marks a directory made by a store, which the last store to close removes.
const madeMark = "made"

// NewFile opens the directory at path. It makes the directory, with mode 0700, if only its parent exists.
func NewFile(path string) (*File, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("store: the directory %q is not an absolute path", path)
	}
	mkdirErr := os.Mkdir(path, 0o700)
	if mkdirErr != nil && !errors.Is(mkdirErr, fs.ErrExist) {
		return nil, fmt.Errorf("store: %w", mkdirErr)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	f := &File{root, path}
	if err = f.check(path); err == nil && mkdirErr == nil {
		err = f.write(madeMark, nil)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return f, nil
}

// check returns an error if other users can enter the directory.
func (f *File) check(path string) error {
	info, err := f.root.Stat(".")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		return fmt.Errorf("store: %s belongs to user %d, want this user, %d", path, uid, os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("store: %s is open to other users: its mode is %#o, want 0700", path, mode)
	}
	return nil
}

// Set sets or replaces a value.
func (f *File) Set(_ context.Context, key string, value []byte) error {
	if err := Check(key, value); err != nil {
		return err
	}
	part := rand.Text() + ".part"
	err := f.write(part, value)
	if err == nil {
		err = f.root.Rename(part, fileName(key))
	}
	if err != nil {
		_ = f.root.Remove(part)
		return fmt.Errorf("store: setting %q: %w", key, err)
	}
	return nil
}

func (f *File) write(name string, value []byte) error {
	w, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = w.Write(value)
	return errors.Join(err, w.Close())
}

// Get waits for a value.
func (f *File) Get(ctx context.Context, key string) ([]byte, error) {
	if err := Check(key, nil); err != nil {
		return nil, err
	}
	for wait := minPollDelay; ; wait = min(2*wait, maxPollDelay) {
		value, err := f.read(fileName(key))
		switch {
		case err == nil:
			return value, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESTALE): // NFS: replaced while it was opened
			return nil, fmt.Errorf("store: getting %q: %w", key, err)
		case sleep(ctx, wait) != nil:
			return nil, waitError(ctx, key)
		}
	}
}

// read reads a value. It opens the file without blocking, because it may be a named pipe.
func (f *File) read(name string) ([]byte, error) {
	r, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if info, err := r.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("not a regular file"))
	}
	value, err := io.ReadAll(io.LimitReader(r, MaxValue+1))
	if err == nil && len(value) > MaxValue {
		err = fmt.Errorf("the file has more than %d bytes", MaxValue)
	}
	return value, err
}

// Delete removes a value, if there is one.
func (f *File) Delete(_ context.Context, key string) error {
	if err := Check(key, nil); err != nil {
		return err
	}
	if err := f.root.Remove(fileName(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store: deleting %q: %w", key, err)
	}
	return nil
}

// Close removes the directory if a store made it and no value is left.
func (f *File) Close() error {
	dir, err := f.root.Open(".")
	if err != nil {
		return f.root.Close()
	}
	names, _ := dir.Readdirnames(2)
	if len(names) == 1 && names[0] == madeMark {
		_ = f.root.Remove(madeMark)
		_ = os.Remove(f.path) // fails if another store has used it meanwhile
	}
	return errors.Join(dir.Close(), f.root.Close())
}

// fileName returns the name of a key's file. It differs from that of every other key and of every part, even on file
// systems that ignore case.
func fileName(key string) string {
	var b strings.Builder
	for _, c := range []byte(key) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	if b.Len() > 240 {
		return fmt.Sprintf("%x.hash", sha256.Sum256([]byte(key)))
	}
	return b.String() + ".value"
}
