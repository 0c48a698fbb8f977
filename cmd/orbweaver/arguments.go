package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"orbweaver/engine"
	"orbweaver/internal/options"
)

// envPrefix begins the name of every variable: --host-delay is ORBWEAVER_HOST_DELAY.
const envPrefix = "ORBWEAVER"

// errHelp says that help was printed and nothing is left to do.
var errHelp = errors.New("help")

// parse reads flags, then variables, then the file of --config, then the crawl directory's own crawl.toml, in that
// order of strength. What is wrong but does not keep the rest from being read goes to w.early.
func (w *world) parse(args []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != errHelp { //nolint:errorlint // the value that kong.Exit throws
				panic(r)
			}
			err = errHelp
		}
	}()
	c := &cli{Crawl: crawlCmd{componentOptions: componentOptions{Config: engine.Polite()}}}
	parser, err := w.parser(c)
	if err != nil {
		return err
	}
	if args, err = w.known(parser, joinNegative(args)); err != nil {
		return err
	}
	if err := w.files(parser, c, w.args); err != nil {
		return err
	}
	ctx, err := parser.Parse(args)
	if ctx != nil {
		w.args = ctx
	}
	return err
}

func (w *world) parser(c *cli) (*kong.Kong, error) {
	w.read = newReadings()
	return kong.New(c,
		kong.NamedMapper("size", w.read),
		kong.NamedMapper("word", w.read),
		kong.KindMapper(reflect.Int, w.read),
		kong.KindMapper(reflect.Int64, w.read),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), w.read),
		kong.Name("orbweaver"),
		kong.Description("A web crawler engine: polite, complete, and fast. Human text goes to stderr, results to stdout.\n\n"+
			"Every flag can be given as a variable ORBWEAVER_NAME or as a key of a TOML file (--config).\n\n"+
			"Example:\n  orbweaver demo"),
		kong.Writers(w.stdout, w.stderr),
		kong.Exit(func(int) { panic(errHelp) }),
		kong.DefaultEnvars(envPrefix),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.ValueFormatter(helpText),
		kong.ExplicitGroups([]kong.Group{agentHelp()}),
		kong.WithBeforeApply(func() error { w.applied = true; return nil }),
	)
}

// helpText is a flag's help with its default; the variable's name follows from the flag's, so it is not repeated.
func helpText(v *kong.Value) string {
	if !v.HasDefault || v.Default == "" || v.Default == "0" {
		return v.Help
	}
	return fmt.Sprintf("%s [%s]", v.Help, v.Default)
}

// joinNegative makes --flag -1 into --flag=-1: no flag is named by a digit.
func joinNegative(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "--" {
			return append(out, args[i:]...)
		}
		negative := len(a) > 1 && a[0] == '-' && a[1] >= '0' && a[1] <= '9'
		if negative && len(out) > 0 && strings.HasPrefix(out[len(out)-1], "--") && !strings.Contains(out[len(out)-1], "=") {
			out[len(out)-1] += "=" + a
			continue
		}
		out = append(out, a)
	}
	return out
}

// known takes flags that no command has out of args and notes each, so that the rest can be looked at too.
func (w *world) known(parser *kong.Kong, args []string) ([]string, error) {
	for {
		ctx, err := kong.Trace(parser, args)
		if err != nil {
			return nil, err
		}
		w.args = ctx
		if ctx.Error == nil || !strings.HasPrefix(ctx.Error.Error(), "unknown flag ") {
			return args, nil // other mistakes come out of Parse
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(ctx.Error.Error(), "unknown flag "), ",")
		at := slices.IndexFunc(args, func(a string) bool { return a == name || strings.HasPrefix(a, name+"=") })
		if at < 0 {
			return args, nil
		}
		w.early.add("", ctx.Error)
		end := at + 1
		if end < len(args) && args[at] == name && looksLikeValue(ctx, args[end]) {
			end++
		}
		args = slices.Delete(slices.Clone(args), at, end)
	}
}

// looksLikeValue says whether the argument behind an unknown flag was most likely meant for it.
func looksLikeValue(ctx *kong.Context, arg string) bool {
	command := ctx.Selected()
	return command != nil && len(command.Children) == 0 && !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "://")
}

// files gives the parser the values of the TOML files, the stronger last.
func (w *world) files(parser *kong.Kong, c *cli, ctx *kong.Context) error {
	command := ctx.Selected()
	if command == nil {
		return nil
	}
	var files []kong.Resolver
	config, err := given(ctx, "config", nil)
	w.early.add("--config", err)
	strong := &tomlFile{name: config}
	if config != "" {
		strong, err = readTOML(config)
		if err != nil {
			w.early.add("--config", err)
			strong = &tomlFile{name: config}
		}
		w.early.add("", strong.check(parser.Model))
		files = append(files, strong)
	}
	if command.Name == "crawl" {
		dir, err := given(ctx, "dir", strong)
		w.early.add("--dir", err)
		weak, err := readTOML(filepath.Join(dir, effectiveName))
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			w.early.add("", err)
		default:
			w.early.add("", weak.check(parser.Model))
			c.Crawl.resumes = true
			files = slices.Insert(files, 0, kong.Resolver(weak))
		}
	}
	return kong.Resolvers(files...).Apply(parser)
}

// given is the value of a text flag before it is applied: from the command line, a variable, the file, or its default.
func given(ctx *kong.Context, name string, file *tomlFile) (string, error) {
	for _, f := range ctx.Flags() {
		if f.Name != name {
			continue
		}
		for _, p := range ctx.Path {
			if p.Flag == f {
				return ctx.FlagValue(f).(string), nil
			}
		}
		for _, env := range f.Envs {
			if v, ok := os.LookupEnv(env); ok {
				return v, nil
			}
		}
		if file != nil {
			if v, ok := file.values[name]; ok {
				return fmt.Sprint(v), nil
			}
		}
		return f.Default, nil
	}
	return "", fmt.Errorf("BUG: no flag --%s", name)
}

// readings gives flags their values, and remembers the text of each: faults are reported together when all are read,
// and crawl.toml keeps what was written.
type readings struct {
	byOperator map[*kong.Value]reading // by a flag or a file
	byDefault  map[*kong.Value]reading // by a variable or the default
	inList     map[*kong.Value]error   // the first fault of an element
}

type reading struct {
	text string
	err  error
}

func newReadings() *readings {
	return &readings{
		byOperator: make(map[*kong.Value]reading), byDefault: make(map[*kong.Value]reading),
		inList: make(map[*kong.Value]error),
	}
}

// Decode is part of kong.Mapper. Package kong reads a value that is given into a copy of the field.
func (r *readings) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("value", &text); err != nil {
		return err
	}
	err := options.Parse(target, ctx.Value.Tag, text)
	if ctx.Value.IsSlice() {
		if err == nil {
			err = options.CheckValue(target, ctx.Value.Tag, text)
		}
		if r.inList[ctx.Value] == nil {
			r.inList[ctx.Value] = err
		}
		return nil
	}
	into := r.byOperator
	if target.Addr().Pointer() == ctx.Value.Target.Addr().Pointer() {
		into = r.byDefault
	}
	into[ctx.Value] = reading{text, err}
	return nil
}

func (r *readings) readingOf(v *kong.Value) (reading, bool) {
	if x, ok := r.byOperator[v]; ok {
		return x, true
	}
	x, ok := r.byDefault[v]
	return x, ok
}

// textOf is what a value was read from; false if it is a list or was read by package kong.
func (r *readings) textOf(v *kong.Value) (string, bool) {
	x, ok := r.readingOf(v)
	return x.text, ok
}

// faultOf is what is wrong with a value.
func (r *readings) faultOf(v *kong.Value) error {
	x, ok := r.readingOf(v)
	switch {
	case ok && x.err == nil:
		return options.CheckValue(v.Target, v.Tag, x.text)
	case ok:
		return x.err
	case v.Target.Kind() == reflect.String:
		return options.CheckValue(v.Target, v.Tag, v.Target.String())
	default:
		return r.inList[v]
	}
}
