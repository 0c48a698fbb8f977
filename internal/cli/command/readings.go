package command

import (
	"reflect"

	"github.com/alecthomas/kong"

	"orbweaver/internal/options"
)

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

// TextOf is what a value was read from; false if it is a list or was read by package kong.
func (inv *Invocation) TextOf(v *kong.Value) (string, bool) {
	x, ok := inv.read.readingOf(v)
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
