package main

import (
	"slices"
	"strings"
	"sync"
)

// asked is what a web server remembers: the paths that it was asked for.
type asked struct {
	mu    sync.Mutex
	paths []string
}

func (a *asked) note(path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paths = append(a.paths, path)
}

// take gives what was asked for since the last call, in order of the alphabet.
func (a *asked) take() string {
	all := a.takeAll()
	slices.Sort(all)
	return strings.Join(all, " ")
}

// takeAsItCame gives what was asked for since the last call, in the order in which it was.
func (a *asked) takeAsItCame() string { return strings.Join(a.takeAll(), ", ") }

func (a *asked) takeAll() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.paths
	a.paths = nil
	return all
}
