package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// existsTag marks arguments that name what must be there: `exists:"directory"`, or `exists:"file or directory"`.
const existsTag = "exists"

// missing returns which of the names in a value is not there, if it must be.
func missing(v *kong.Value) error {
	kind := v.Tag.Get(existsTag)
	if kind == "" || v.Target.IsZero() {
		return nil
	}
	if v.Target.Kind() == reflect.String {
		return mustExist(kind, v.Target.String())
	}
	var all []error
	for i := range v.Target.Len() {
		all = append(all, mustExist(kind, v.Target.Index(i).String()))
	}
	return errors.Join(all...)
}

// FindDir returns that there is no directory of this name, as a mistake of usage.
func FindDir(name string) error {
	if err := mustExist("directory", name); err != nil {
		return Misuse(err)
	}
	return nil
}

// mustExist returns that a name is not there, with the name beside it that is most like it.
func mustExist(kind, name string) error {
	if _, err := os.Stat(name); name == "-" || strings.HasPrefix(name, "s3://") || !errors.Is(err, fs.ErrNotExist) {
		return nil // other errors have a better place, and so have standard input and stores
	}
	parent, base := filepath.Split(filepath.Clean(name))
	var known []string
	if entries, err := os.ReadDir(filepath.Clean(parent)); err == nil {
		for _, e := range entries {
			known = append(known, e.Name())
		}
	}
	like := nearest(base, known)
	if like == "" {
		return fmt.Errorf("no such %s: %s", kind, PlainText(name))
	}
	return fmt.Errorf("no such %s: %s; did you mean %s?", kind, PlainText(name), PlainText(parent+like))
}
