package command

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/options"
)

// thing is a component whose options have gained a field.
type thing struct {
	Width int `help:"Width of the thing. Raise it for wide things." default:"7" least:"1" most:"99" placeholder:"N"`
}

type thingCommand struct {
	Thing thing `embed:""`
}

// A recipe of CONTRIBUTING.md: a field with tags in the options of a component is a flag with help, a variable and a
// key of the file, with its default and its range. The other place is the code that uses it.
func TestRecipe_aFlagIsOneField(t *testing.T) {
	var out strings.Builder
	parse := func(args ...string) (int, error) {
		var grammar struct {
			Sources
			Do thingCommand `cmd:"" help:"Do it."`
		}
		in := strings.NewReader("")
		inv := &Invocation{Context: t.Context(), Stdin: in, Stdout: &out, Stderr: io.Discard}
		err := inv.Parse(&grammar, append([]string{"do"}, args...))
		return grammar.Do.Thing.Width, errors.Join(err, inv.ReadFaults(), inv.ValueFaults())
	}
	expect := func(want int, args ...string) {
		t.Helper()
		if got, err := parse(args...); got != want || err != nil {
			t.Errorf("%v: got %d, %v; want %d", args, got, err, want)
		}
	}
	var defaults thing
	if options.SetDefaults(&defaults); defaults.Width != 7 {
		t.Errorf("for programs the default is %d", defaults.Width)
	}
	expect(7)
	file := filepath.Join(t.TempDir(), "my.toml")
	if err := os.WriteFile(file, []byte("width = 8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(8, "--config", file)
	t.Setenv(EnvPrefix+"_WIDTH", "9")
	expect(9, "--config", file)
	expect(10, "--config", file, "--width", "10")
	want := "--width: 100 is not between 1 and 99"
	if _, err := parse("--width", "100"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("out of range: %v", err)
	}
	if _, err := parse("--help"); !errors.Is(err, ErrHelp) || !strings.Contains(out.String(), "--width=N") ||
		!strings.Contains(out.String(), "[7]") {
		t.Errorf("help: %v\n%s", err, out.String())
	}
}
