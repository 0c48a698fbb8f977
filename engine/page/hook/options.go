package hook

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options say which programs are asked. The zero Options ask none.
type Options struct {
	Hooks    []string      `name:"hook" help:"Program to ask, as page=CMD about each stored page: it may return links and counts. As page:TYPE,...=CMD about pages of these media types, such as image/*. As host[:N[:M]]=CMD about a host after N stored pages and then every M [100, 1000]: it may block the host, limit its pages or postpone it. As link=CMD about the links of each page: it may drop some, and give scores for --visit focused. CMD is split at spaces; no shell is involved. A program FILE.wasm runs within the crawl, without files and network. It reads frames from standard input and writes frames to standard output (docs/hooks.md)." placeholder:"KIND=CMD" sep:"none"`
	Parallel int           `name:"hook-parallel" help:"Pages that the program of --hook may have at a time." default:"16" least:"1" most:"256" placeholder:"N"`
	Full     Full          `name:"hook-full" type:"word" help:"wait or skip: what becomes of a page while the program has --hook-parallel pages. skip stores it without asking." oneof:"wait,skip" default:"wait" placeholder:"MODE"`
	Memory   int64         `name:"hook-memory" type:"size" help:"Memory that the program of --hook may write to, and each process that it starts. Only on Linux, and for FILE.wasm; 0 for no limit." default:"2GiB" least:"0" placeholder:"SIZE"`
	Timeout  time.Duration `name:"hook-timeout" help:"Time without an answer after which the program of --hook is killed and started again. The pages that it had are stored." default:"10s" least:"100ms" placeholder:"TIME"`

	Stats  []string `kong:"-"` // names of --stat, which no count may have
	Counts []string `kong:"-"` // names that the crawl has of counts in earlier runs
}

// Full says what becomes of a page for which the program has no room.
type Full uint8

// The choices, in the order of the flag's words.
const (
	Wait Full = iota
	Skip
)

// The kinds of questions.
const (
	PageKind = "page"
	HostKind = "host"
	LinkKind = "link"
)

// Kinds are all kinds.
func Kinds() []string { return []string{PageKind, HostKind, LinkKind} }

// After how many pages a program is asked about a host, and after how many more again.
const (
	firstDefault = 100
	everyDefault = 1000
)

// Command is the program of a kind and its arguments; nil if there is none.
func (o *Options) Command(kind string) []string {
	for _, hook := range o.Hooks {
		what, command, _ := strings.Cut(hook, "=")
		if of, _, _ := strings.Cut(what, ":"); of == kind {
			return strings.Fields(command)
		}
	}
	return nil
}

// hostPages says after how many pages a program is asked about a host, and after how many more again.
func (o *Options) hostPages() (first, every int) {
	for _, hook := range o.Hooks {
		what, _, _ := strings.Cut(hook, "=")
		if of, numbers, _ := strings.Cut(what, ":"); of == HostKind {
			first, every, _ := readPages(numbers)
			return first, every
		}
	}
	return firstDefault, everyDefault
}

// readPages reads N:M.
func readPages(text string) (first, every int, err error) {
	first, every = firstDefault, everyDefault
	for i, word := range strings.Split(text, ":") {
		if text == "" {
			break
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 1<<30 || i > 1 {
			return 0, 0, fmt.Errorf("%q is no number of pages: give host:N:M=CMD, each 1 or more", word)
		}
		*[]*int{&first, &every}[i] = n
	}
	return first, every, nil
}

// pageTypes are the media types that the program for pages is asked about; nil for all.
func (o *Options) pageTypes() []string {
	for _, hook := range o.Hooks {
		what, _, _ := strings.Cut(hook, "=")
		if of, types, hasTypes := strings.Cut(what, ":"); of == PageKind && hasTypes {
			return strings.Split(strings.ToLower(types), ",")
		}
	}
	return nil
}

// isNoType reports whether a text is neither a media type nor all types with the same beginning, such as image/*.
func isNoType(text string) bool {
	of, name, _ := strings.Cut(text, "/")
	return of == "" || name == "" || strings.ContainsAny(text, " ;") || strings.ContainsAny(of, "*") ||
		name != "*" && strings.ContainsAny(name, "*/")
}

// Workers is how many more parse workers a crawl needs, since so many wait for answers.
func (o *Options) Workers() int {
	return len(o.Hooks) * o.Parallel
}

// Validate reports what is wrong with the options.
func (o *Options) Validate() error {
	var faults []error
	for i, hook := range o.Hooks {
		what, command, _ := strings.Cut(hook, "=")
		kind, numbers, hasNumbers := strings.Cut(what, ":")
		isAgain := slices.ContainsFunc(o.Hooks[:i], func(other string) bool {
			what, _, _ := strings.Cut(other, "=")
			of, _, _ := strings.Cut(what, ":")
			return of == kind
		})
		switch _, _, err := readPages(numbers); {
		case !slices.Contains(Kinds(), kind), kind == LinkKind && hasNumbers:
			const kinds = "page=, page:TYPE=, link=, host=, host:N= and host:N:M="
			faults = append(faults, fmt.Errorf("--hook: %q begins with none of %s", hook, kinds))
		case kind == PageKind && hasNumbers && slices.ContainsFunc(strings.Split(numbers, ","), isNoType):
			faults = append(faults, fmt.Errorf("--hook: %q: %q are no media types: give page:application/pdf,image/*=CMD",
				hook, numbers))
		case kind == HostKind && hasNumbers && (err != nil || numbers == ""):
			faults = append(faults, fmt.Errorf("--hook: %q: %w", hook, cmp.Or(err, errNoNumber)))
		case len(strings.Fields(command)) == 0:
			faults = append(faults, fmt.Errorf("--hook: %q names no program: give %s=CMD", hook, kind))
		case isAgain:
			faults = append(faults, fmt.Errorf("--hook: %s is given twice: run both in one program", kind))
		}
	}
	return errors.Join(faults...)
}

var errNoNumber = errors.New("the number behind host: is missing")
