package logreport

import (
	"bytes"
	"slices"
	"strconv"

	"orbweaver/engine/store/crawllog"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// Kind is the name of a report.
type Kind string

// The reports.
const (
	Hosts  Kind = "hosts"
	Status Kind = "status"
	Types  Kind = "mime"
	Depth  Kind = "depth"
	Hops   Kind = "hops"
	Errors Kind = "errors"
	TLS    Kind = "tls"
	Seeds  Kind = "seeds"

	Requisites Kind = "requisites"
	Walls      Kind = "walls"
)

// Kinds returns all reports.
func Kinds() []Kind {
	return []Kind{Hosts, Status, Types, Depth, Hops, Seeds, Errors, TLS, Requisites, Walls}
}

// Columns returns the names of the columns of a report.
func (k Kind) Columns() []string {
	if k == Seeds {
		return []string{"seed", "outcome", "status", "redirected_to", "time"}
	}
	d := definitions[k]
	columns := append(slices.Clone(d.keys), d.numbers...)
	if k == Walls {
		columns = append(columns, "waiting", "since")
	}
	if d.hasExample {
		columns = append(columns, "example")
	}
	return columns
}

// FirstNumber is the place of the first column with a number, among those of Columns.
func (k Kind) FirstNumber() int {
	if k == Seeds {
		return slices.Index(k.Columns(), "status")
	}
	return len(definitions[k].keys)
}

// definition is how a report is made from lines. The rows of a report have different keys, and their numbers are sums.
type definition struct {
	keys       []string
	numbers    []string
	hasExample bool // the last column is a URL of the row
	// add returns the key of a line, its parts separated by tabs, and its numbers; ok is false if the report ignores the
	// line. It appends both to the slices that it gets.
	add func(l *lineFacts, key []byte, numbers []int64) ([]byte, []int64, bool)
}

// lineFacts are a line and what several reports need of it.
type lineFacts struct {
	*crawllog.Line
	final   bool
	outcome outcome.Outcome
	bytes   int64 // of the payload, at least 0
}

func (l *lineFacts) host() []byte { return urlx.Host(l.URL) }

func (l *lineFacts) hasResponse() bool { return l.Status > 0 }

// notHad reports whether the line is a final one of a URL without a usable answer.
func (l *lineFacts) notHad() bool {
	switch l.outcome {
	case outcome.OK, outcome.Redirect, outcome.NotModified:
		return false
	default:
		return l.final
	}
}

// one is 1 if the condition is true, else 0.
func one(condition bool) int64 {
	if condition {
		return 1
	}
	return 0
}

var definitions = map[Kind]definition{ //nolint:gochecknoglobals // a table
	Hosts: {
		keys: []string{"host"},
		numbers: []string{"urls", "pages", "bytes", "duplicates", "redirects", "client_errors", "failed", "refused",
			"robots_denied", "requests"},
		add: func(l *lineFacts, key []byte, n []int64) ([]byte, []int64, bool) {
			class := l.outcome.Class()
			failed := class == outcome.ClassFault || class == outcome.ClassHost || class == outcome.ClassBusy
			return append(key, l.host()...), append(n, one(l.final), one(l.final && l.outcome.IsPage(l.Status)),
				l.bytes*one(l.final), one(l.final && l.IsDuplicate()), one(l.final && l.outcome == outcome.Redirect),
				one(l.final && l.outcome == outcome.ClientError), one(l.final && failed),
				one(l.final && class == outcome.ClassRefusal), one(l.final && l.outcome == outcome.RobotsDenied),
				one(l.Started != nil)), true
		},
	},
	Status: {
		keys:    []string{"status"},
		numbers: []string{"urls", "responses", "bytes"},
		add: func(l *lineFacts, key []byte, n []int64) ([]byte, []int64, bool) {
			return strconv.AppendInt(key, int64(l.Status), 10),
				append(n, one(l.final), one(l.hasResponse()), l.bytes*one(l.final)), l.final || l.hasResponse()
		},
	},
	Types: {
		keys:    []string{"type"},
		numbers: []string{"urls", "bytes"},
		add: func(l *lineFacts, key []byte, n []int64) ([]byte, []int64, bool) {
			return append(key, bytes.ToLower(l.Type)...), append(n, 1, l.bytes), l.final && l.hasResponse()
		},
	},
	Depth: {
		keys:    []string{"depth"},
		numbers: []string{"urls", "pages", "bytes"},
		add: func(l *lineFacts, key []byte, n []int64) ([]byte, []int64, bool) {
			return strconv.AppendInt(key, int64(depthOf(l.Hops)), 10),
				append(n, 1, one(l.outcome.IsPage(l.Status)), l.bytes), l.final
		},
	},
	Hops: {
		keys:    []string{"hop"},
		numbers: []string{"urls", "pages", "duplicates", "client_errors", "bytes"},
		add: func(l *lineFacts, key []byte, n []int64) ([]byte, []int64, bool) {
			return append(key, lastHop(l.Hops)), append(n, 1, one(l.outcome.IsPage(l.Status)), one(l.IsDuplicate()),
				one(l.outcome == outcome.ClientError), l.bytes), l.final
		},
	},
	Errors: {
		keys: []string{"outcome", "host"}, numbers: []string{"urls"}, hasExample: true,
		add: func(l *lineFacts, key []byte, n []int64) ([]byte, []int64, bool) {
			key = append(append(append(key, l.Outcome...), '\t'), l.host()...)
			return key, append(n, 1), l.notHad()
		},
	},
	Requisites: {
		keys: []string{"page", "outcome", "status", "requisite"}, numbers: []string{"urls"},
		add: func(l *lineFacts, key []byte, n []int64) ([]byte, []int64, bool) {
			via := l.Via
			if via == nil {
				via = []byte{'-'}
			}
			key = append(append(append(append(key, via...), '\t'), l.Outcome...), '\t')
			key = append(strconv.AppendInt(key, int64(l.Status), 10), '\t')
			return append(key, l.URL...), append(n, 1), l.notHad() && isRequisite(l.Hops)
		},
	},
	Walls: {
		keys: []string{"service", "host"}, numbers: []string{"requests", "urls"}, hasExample: true,
		add: func(l *lineFacts, key []byte, n []int64) ([]byte, []int64, bool) {
			service := l.Wall()
			return append(append(append(key, service...), '\t'), l.host()...), append(n, 1, one(l.final)), service != nil
		},
	},
	TLS: {
		keys: []string{"fault", "host"}, numbers: []string{"attempts"}, hasExample: true,
		add: func(l *lineFacts, key []byte, n []int64) ([]byte, []int64, bool) {
			fault := l.CertificateFault()
			if fault == nil && l.outcome == outcome.TLSFault {
				fault = []byte(outcome.TLSFault.String())
			}
			return append(append(append(key, fault...), '\t'), l.host()...), append(n, 1), fault != nil
		},
	},
}

// isRequisite reports whether a hop path is that of a page requisite, or of the target of its redirects.
func isRequisite(hops []byte) bool {
	return lastHop(hops) == 'E'
}

// lastHop is the letter of the last hop that is no redirect; - for a seed.
func lastHop(hops []byte) byte {
	if hops = bytes.TrimRight(hops, "R"); len(hops) > 0 {
		return hops[len(hops)-1]
	}
	return '-'
}

// depthOf is the number of links from a seed in a hop path. Redirects, embedded resources and robots.txt are no links.
func depthOf(hops []byte) (depth int) {
	for _, letter := range hops {
		if letter != 'R' && letter != 'E' && letter != 'P' {
			depth++
		}
	}
	return depth
}

// outcomesByName are all outcomes by their names.
func outcomesByName() map[string]outcome.Outcome {
	byName := make(map[string]outcome.Outcome, outcome.Count)
	for o := range outcome.Count {
		byName[outcome.Outcome(o).String()] = outcome.Outcome(o)
	}
	return byName
}
