package crawl

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// configured reads a configuration file and gives what is wrong with it.
func configured(dir string, text []byte) error {
	file := filepath.Join(dir, "fuzz.toml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	w := &command.Invocation{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	_, err := parseCrawl(w, "crawl", "--dir", dir, "--config", file, "http://a.test/")
	return err
}

// FuzzConfig: no file panics what reads the configuration, and what is no TOML is a mistake.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		"", "host-delay = '5s'\nfetchers = 77\n", "seeds = ['a', 'b']\n", "fetchers = [1]\n", "[crawl]\nfetchers = 1\n",
		"nofollow = true\nmax-url = '4KiB'\n", "a = 1\na = 2\n",
		"host-delay = 1979-05-27T07:32:00Z\n", "max-depth = -1\nmax-pages = 0x10\n", "x = inf\n", "fetchers = 1e400\n",
		"a.b.c = {d = [[]]}\n", "\"\\u0000\" = ''", "\xff", "x = '''",
		"allow-net = '10.0.0.0/8'\nallow-port = [1, 65536]\n", "help = true\nconfig = 'x'\n", "dir = '/nowhere'\n",
		"a = " + strings.Repeat("[", 1000),
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := configured(dir, text); err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Errorf("%q: a mistake without a word", text)
		}
	})
}
