package command

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// EnvPrefix begins the name of every variable: --host-delay is ORBWEAVER_HOST_DELAY.
const EnvPrefix = "ORBWEAVER"

// ErrHelp says that help was printed and nothing is left to do.
var ErrHelp = errors.New("help")

// Sources is the flag of every grammar that names a file of settings.
type Sources struct {
	Config string `help:"TOML file whose keys are names of flags. Flags win over ORBWEAVER_ variables (ORBWEAVER_HOST_DELAY), variables over the file." placeholder:"FILE" basic:""`
}

// Resumable is a command that goes on with the settings of an earlier run.
type Resumable interface {
	SettingsFile(dir string) string
	Resume(kept KeptSettings) // the file is there
}

// Presetter is a command with --preset: a name for the values of several flags.
type Presetter interface {
	// PresetValues returns the values by flag. The settings of an earlier run, if there are any, are in dir.
	PresetValues(name, dir string) (map[string]any, error)
}

// Parse reads flags, then variables, then the file of --config, then the settings of an earlier run, then the preset,
// in that order of strength, into grammar: a pointer to a struct with sources and commands. A mistake that does not
// keep the rest from being read goes to inv.early.
func (inv *Invocation) Parse(grammar any, args []string, groups ...kong.Group) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != ErrHelp { //nolint:errorlint // the value that kong.Exit throws
				panic(r)
			}
			err = ErrHelp
		}
	}()
	parser, err := inv.parser(grammar, groups)
	if err != nil {
		return err
	}
	if inv.keys == nil {
		inv.keys = flagKeys(parser.Model)
		inv.early.Add("", checkVariables(inv.keys, inv.Stderr))
	}
	if args, err = inv.known(parser, joinNegative(inv.takeHelpWord(args))); err != nil {
		return err
	}
	if err := inv.files(parser, inv.Args); err != nil {
		return err
	}
	ctx, err := parser.Parse(args)
	if ctx != nil {
		inv.Args = ctx
	}
	return err
}

func (inv *Invocation) parser(grammar any, groups []kong.Group) (*kong.Kong, error) {
	inv.read = newReadings()
	return kong.New(
		grammar,
		kong.NamedMapper("size", inv.read),
		kong.NamedMapper("rate", inv.read),
		kong.NamedMapper("word", inv.read),
		kong.NamedMapper("term", inv.read),
		kong.KindMapper(reflect.Int, inv.read),
		kong.KindMapper(reflect.Int64, inv.read),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), inv.read),
		kong.Name(inv.program()),
		kong.Description(
			inv.About+" Human text goes to stderr, results to stdout.\n\n"+
				"Every flag can be given as a variable ORBWEAVER_NAME or as a key of a TOML file (--config).\n\n"+
				"Example:\n  "+inv.program()+" "+inv.Example,
		),
		kong.Writers(inv.Stdout, inv.Stderr),
		kong.Exit(func(int) { panic(ErrHelp) }),
		kong.DefaultEnvars(EnvPrefix),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.Help(inv.printHelp),
		kong.ValueFormatter(helpText),
		kong.ExplicitGroups(groups),
		kong.WithBeforeApply(func() error { inv.applied = true; return nil }),
	)
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
func (inv *Invocation) known(parser *kong.Kong, args []string) ([]string, error) {
	for {
		ctx, err := kong.Trace(parser, args)
		if err != nil {
			return nil, err
		}
		inv.Args = ctx
		if ctx.Error == nil || !strings.HasPrefix(ctx.Error.Error(), "unknown flag ") {
			return args, nil // other mistakes come out of Parse
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(ctx.Error.Error(), "unknown flag "), ",")
		at := slices.IndexFunc(args, func(a string) bool { return a == name || strings.HasPrefix(a, name+"=") })
		if at < 0 {
			return args, nil
		}
		inv.early.Add("", ctx.Error)
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
func (inv *Invocation) files(parser *kong.Kong, ctx *kong.Context) error {
	command := ctx.Selected()
	if command == nil {
		return nil
	}
	keys := keysFor(ctx, inv.keys)
	var files []kong.Resolver
	config, err := GivenText(ctx, "config")
	inv.early.Add("--config", err)
	strong := &TOMLFile{name: config}
	if config != "" {
		strong, err = ReadTOML(config)
		if err != nil {
			inv.early.Add("--config", err)
			strong = &TOMLFile{name: config}
		}
		inv.early.Add("", strong.check(keys))
		files = append(files, strong)
	}
	target := command.Target.Addr().Interface()
	var dir string
	earlierFile := new(TOMLFile)
	if earlier, ok := target.(Resumable); ok {
		dir, err = GivenText(ctx, "dir", strong)
		inv.early.Add("--dir", err)
		weak, err := ReadTOML(earlier.SettingsFile(dir))
		switch {
		case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // --dir tells it
		case errors.Is(err, os.ErrPermission): // other faults would be those of missing settings
			return err
		case err != nil:
			inv.early.Add("", err)
		default:
			weak.bringUpToDate()
			inv.early.Add("", weak.check(keys))
			earlier.Resume(KeptSettings{weak.mark, weak.values, givenFlags(ctx, strong)})
			files = slices.Insert(files, 0, kong.Resolver(weak))
			earlierFile = weak
		}
	}
	if named, ok := target.(Presetter); ok {
		name, err := GivenText(ctx, "preset", strong, earlierFile)
		inv.early.Add("--preset", err)
		values, err := named.PresetValues(name, dir)
		inv.early.Add("--preset", err)
		files = slices.Insert(files, 0, kong.Resolver(&TOMLFile{name: "--preset " + name, values: values}))
	}
	return kong.Resolvers(files...).Apply(parser)
}

// GivenText is the value of a text flag before it is applied: from the command line, a variable, the first of the files
// that has it, or its default.
func GivenText(ctx *kong.Context, name string, files ...*TOMLFile) (string, error) {
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
		for _, file := range files {
			if v, ok := file.values[name]; ok {
				return fmt.Sprint(v), nil
			}
		}
		return f.Default, nil
	}
	return "", fmt.Errorf("BUG: no flag --%s", name)
}
