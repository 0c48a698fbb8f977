package filter

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Extensions is a set of file extensions of paths: jpg for /a/photo.JPG. It never changes.
type Extensions struct{ set map[string]struct{} }

// extensionMax is the longest extension, in bytes.
const extensionMax = 16

// ErrExtension is wrapped by every error about an extension.
var ErrExtension = errors.New("filter: bad extension")

// CompileExtensions returns a set of extensions, which may be written with their dot and in any case. The error joins
// all faults.
func CompileExtensions(list []string) (*Extensions, error) {
	e := &Extensions{set: make(map[string]struct{}, len(list))}
	var faults []error
	for _, text := range list {
		name := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(text), "."))
		switch {
		case name == "" || strings.IndexFunc(name, func(r rune) bool {
			return r <= ' ' || r >= 0x7f ||
				strings.ContainsRune("/?#%*", r)
		}) >= 0:
			faults = append(faults, fmt.Errorf("%w: %q", ErrExtension, text))
		case strings.Contains(name, "."):
			faults = append(faults,
				fmt.Errorf("%w: %q: only what follows the last dot of a path is one", ErrExtension, text))
		case len(name) > extensionMax:
			faults = append(faults, fmt.Errorf("%w: %q: it is longer than %d bytes", ErrExtension, text, extensionMax))
		default:
			e.set[name] = struct{}{}
		}
	}
	return e, errors.Join(faults...)
}

// Len returns the number of extensions.
func (e *Extensions) Len() int { return len(e.set) }

// has reports whether a path, without query, ends in one of them.
func (e *Extensions) has(path []byte) bool {
	var room [extensionMax]byte
	name, ok := extension(room[:0], path)
	if !ok {
		return false
	}
	_, ok = e.set[string(name)]
	return ok
}

// extension appends the extension of a path to dst in lower case. It returns false if there is none, or none that could
// be in a set.
func extension(dst, path []byte) ([]byte, bool) {
	tail := path[max(0, len(path)-extensionMax-1):]
	dot := bytes.LastIndexByte(tail, '.')
	if dot < 0 || dot == len(tail)-1 {
		return dst, false
	}
	for _, c := range tail[dot+1:] {
		switch {
		case c == '/':
			return dst, false
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst, true
}

// Extension returns the extension of a normal form, as a set would contain it; "" if there is none.
func Extension(url []byte) string {
	p, _ := split(url)
	name, ok := extension(nil, p.path)
	if !ok {
		return ""
	}
	return string(name)
}
