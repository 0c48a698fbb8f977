package command

import (
	"bytes"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// trustFlag is the flag that trusts the settings in a crawl directory. They cannot give it themselves.
const trustFlag = "trust-dir"

// markPrefix begins the comment with the mark of the account that wrote a file of settings.
const markPrefix = "# mark: "

// MarkLine is the line for the mark in a file of settings.
func MarkLine(mark string) string { return markPrefix + mark + "\n" }

// MarkOf returns the mark in a file of settings; "" if it has none.
func MarkOf(file []byte) string {
	for line := range bytes.Lines(file) {
		if mark, ok := bytes.CutPrefix(line, []byte(markPrefix)); ok {
			return string(bytes.TrimSpace(mark))
		}
	}
	return ""
}

// KeptSettings are those of an earlier run, from a file in its directory. The directory may be that of another person.
// The zero value has none.
type KeptSettings struct {
	Mark string // in the file

	values   map[string]any
	stronger map[string]bool // whether a stronger source gives a flag
}

// Kept reads settings from the bytes of a file.
func Kept(name string, file []byte) (KeptSettings, error) {
	t, err := parseTOML(name, file)
	if err != nil {
		return KeptSettings{}, err
	}
	return KeptSettings{Mark: t.mark, values: t.values}, nil
}

// Values are the values of a flag in the file, as the command line has them.
func (k *KeptSettings) Values(flag string) []string {
	switch value := k.values[flag].(type) {
	case nil:
		return nil
	case []any:
		texts := make([]string, len(value))
		for i, element := range value {
			texts[i] = plainText(element)
		}
		return Given(texts)
	default:
		return Given([]string{plainText(value)})
	}
}

// IsUsed reports whether the value in the file is in use: no flag, variable or file of --config gives another one.
func (k *KeptSettings) IsUsed(flag string) bool { return !k.stronger[flag] }

// givenFlags are the flags that the command line, a variable or the file of --config gives.
func givenFlags(ctx *kong.Context, strong *TOMLFile) map[string]bool {
	given := map[string]bool{}
	for _, p := range ctx.Path {
		if p.Flag != nil {
			given[p.Flag.Name] = true
		}
	}
	for _, f := range ctx.Flags() {
		_, inFile := strong.values[f.Name]
		given[f.Name] = given[f.Name] || inFile || slices.ContainsFunc(f.Envs, func(env string) bool {
			_, ok := os.LookupEnv(env)
			return ok
		})
	}
	return given
}

// PlainLines are texts of a file for a message: each on a line, without control characters.
func PlainLines(texts []string) string {
	plain := make([]string, len(texts))
	for i, text := range texts {
		plain[i] = "\n  " + PlainText(text)
	}
	return strings.Join(plain, "")
}
