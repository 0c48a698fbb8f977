package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
)

// profileFlag lets a benchmark say where its time, its garbage and its waiting come from.
type profileFlag struct {
	Profile string `help:"Directory for profiles of the run: cpu, allocs, mutex and block." placeholder:"DIR"`
}

// blockRate is how much waiting, in nanoseconds, is sampled once on average: rare enough to cost nothing.
const blockRate = 100_000

// start begins to profile; end, to be called once, writes what was seen.
func (f *profileFlag) start() (end func() error, err error) {
	if f.Profile == "" {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(f.Profile, 0o755); err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	cpu, err := os.Create(filepath.Join(f.Profile, "cpu.pprof"))
	if err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(fmt.Errorf("--profile: %w", err), cpu.Close())
	}
	runtime.SetMutexProfileFraction(100)
	runtime.SetBlockProfileRate(blockRate)
	return func() error {
		pprof.StopCPUProfile()
		errs := []error{cpu.Close()}
		for _, name := range []string{"allocs", "mutex", "block"} {
			errs = append(errs, f.write(name))
		}
		return errors.Join(errs...)
	}, nil
}

func (f *profileFlag) write(name string) error {
	out, err := os.Create(filepath.Join(f.Profile, name+".pprof"))
	if err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	return errors.Join(pprof.Lookup(name).WriteTo(out, 0), out.Close())
}
