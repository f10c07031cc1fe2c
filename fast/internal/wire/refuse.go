package wire

import "fmt"

// Refuse returns the error of a call of primitive with a bad argument. It wraps ErrInvalidArgument.
func Refuse(primitive, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", primitive, ErrInvalidArgument, fmt.Sprintf(format, args...))
}
