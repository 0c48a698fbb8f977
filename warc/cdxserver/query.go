package cdxserver

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"orbweaver/warc/lookup"
)

// Query is what a client asks.
type Query struct {
	want     lookup.Range
	from, to string // first digits of the least and the greatest timestamp; "" for any
	limit    int    // 0 for all
	output   string
	fields   []string // as the client calls them; nil for all
	filters  []filter
	sort     string
	closest  time.Time
}

// ErrQuery says that a parameter is wrong.
var ErrQuery = errors.New("bad query")

// windowMost is the most lines of sort=reverse and sort=closest; without a limit there are windowDefault.
const (
	windowMost    = 10_000
	windowDefault = 100
)

// Values of parameters.
const (
	exactMatch   = "exact"
	prefixMatch  = "prefix"
	hostMatch    = "host"
	domainMatch  = "domain"
	cdxjOutput   = "cdxj"
	jsonOutput   = "json"
	textOutput   = "text"
	closestSort  = "closest"
	reverseSort  = "reverse"
	fromKeyParam = "from-key"
	toKeyParam   = "to-key"
)

// Params returns the names of all parameters.
func Params() []string {
	return []string{
		"url", "matchType", "from", "to", "limit", "output", "fl", "filter", "sort", "closest", fromKeyParam, toKeyParam,
	}
}

// Parse reads the parameters of a query. An error wraps ErrQuery.
func Parse(values map[string][]string) (*Query, error) {
	q := &Query{output: cdxjOutput}
	one := make(map[string]string)
	for name, all := range values {
		switch {
		case !slices.Contains(Params(), name):
			return nil, fmt.Errorf("%w: %.100q is not supported; there are %s", ErrQuery, name, strings.Join(Params(), ", "))
		case name == "filter":
			if err := q.addFilters(all); err != nil {
				return nil, err
			}
		case len(all) != 1:
			return nil, fmt.Errorf("%w: %s is given %d times", ErrQuery, name, len(all))
		default:
			one[name] = all[0]
		}
	}
	for _, step := range []func(map[string]string) error{q.setRange, q.setTimes, q.setOrder, q.setOutput} {
		if err := step(one); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// setRange sets the range of lines from url and matchType, or from two keys.
func (q *Query) setRange(p map[string]string) error {
	from, isRange := p[fromKeyParam]
	if isRange && p["url"] == "" {
		q.want = lookup.Range{From: []byte(from), To: []byte(p[toKeyParam])}
		return nil
	}
	url, match := p["url"], p["matchType"]
	if url == "" {
		return fmt.Errorf("%w: url is missing", ErrQuery)
	}
	if match == "" {
		match = exactMatch
		if rest, ok := strings.CutSuffix(url, "*"); ok {
			url, match = rest, prefixMatch
		} else if rest, ok := strings.CutPrefix(url, "*."); ok {
			url, match = rest, domainMatch
		}
	}
	ranges := map[string]func([]byte) lookup.Range{
		exactMatch: lookup.Exact, prefixMatch: lookup.Prefix, hostMatch: lookup.Host, domainMatch: lookup.Domain,
	}
	rangeOf, ok := ranges[match]
	if !ok {
		return fmt.Errorf("%w: matchType %.40q: want exact, prefix, host or domain", ErrQuery, match)
	}
	if !strings.Contains(url, ":") || !strings.Contains(url, "://") && !strings.HasPrefix(url, "urn:") {
		url = "http://" + url
	}
	key, _, err := lookup.KeyOf([]byte(url))
	if err != nil {
		return fmt.Errorf("%w: url: %w", ErrQuery, err)
	}
	if match == prefixMatch && strings.HasSuffix(url, "/") && !strings.HasSuffix(string(key), "/") {
		key = append(key, '/') // the key of a page has no slash at its end
	}
	q.want = rangeOf(key)
	return nil
}

func (q *Query) setTimes(p map[string]string) error {
	for name, into := range map[string]*string{"from": &q.from, "to": &q.to} {
		text := strings.Map(func(r rune) rune {
			if strings.ContainsRune("-:TZ ", r) {
				return -1
			}
			return r
		}, p[name])
		if len(text) > 17 || strings.Trim(text, "0123456789") != "" {
			return fmt.Errorf("%w: %s: want digits of YYYYMMDDhhmmss", ErrQuery, name)
		}
		*into = text
	}
	return nil
}

func (q *Query) setOrder(p map[string]string) (err error) {
	if text := p["limit"]; text != "" {
		if q.limit, err = strconv.Atoi(text); err != nil || q.limit < 0 {
			return fmt.Errorf("%w: limit: want a number of lines", ErrQuery)
		}
	}
	if text := p["closest"]; text != "" {
		if q.closest, err = lookup.ParseTime(text); err != nil {
			return fmt.Errorf("%w: closest: %w", ErrQuery, err)
		}
	}
	switch q.sort = p["sort"]; q.sort {
	case "", reverseSort:
	case closestSort:
		if q.closest.IsZero() {
			return fmt.Errorf("%w: sort=closest needs closest=TIME", ErrQuery)
		}
	default:
		return fmt.Errorf("%w: sort: want reverse or closest", ErrQuery)
	}
	if q.sort == "" && !q.closest.IsZero() {
		q.sort = closestSort
	}
	if q.sort != "" && q.limit == 0 {
		q.limit = windowDefault
	}
	if q.sort != "" && q.limit > windowMost {
		return fmt.Errorf("%w: limit: at most %d with sort", ErrQuery, windowMost)
	}
	return nil
}

func (q *Query) setOutput(p map[string]string) error {
	if text := p["output"]; text != "" {
		q.output = text
	}
	if !slices.Contains([]string{cdxjOutput, jsonOutput, textOutput}, q.output) {
		return fmt.Errorf("%w: output: want cdxj, json or text", ErrQuery)
	}
	if text := p["fl"]; text != "" {
		q.fields = strings.Split(text, ",")
	} else if q.output == textOutput {
		q.fields = []string{"urlkey", "timestamp", "url", "mime", "status", "digest", "length"}
	}
	for i := range q.fields {
		q.fields[i] = strings.TrimSpace(q.fields[i])
		if fieldOf(q.fields[i]) == "" || len(q.fields) > 100 {
			return fmt.Errorf("%w: fl: %.40q is no field", ErrQuery, q.fields[i])
		}
	}
	return nil
}

// ContentType is the media type of the answer.
func (q *Query) ContentType() string {
	switch q.output {
	case jsonOutput:
		return "application/x-ndjson"
	case textOutput:
		return "text/plain; charset=utf-8"
	}
	return "text/x-cdxj"
}

// filter accepts lines by a field.
type filter struct {
	field string
	not   bool
	match func(value string) bool
}

// filtersMost is the most filters of a query.
const filtersMost = 20

func (q *Query) addFilters(all []string) error {
	for _, text := range all {
		var f filter
		rest, not := strings.CutPrefix(text, "!")
		f.not = not
		operator := ""
		if rest != "" && strings.ContainsRune("=~", rune(rest[0])) {
			operator, rest = rest[:1], rest[1:]
		}
		name, value, ok := strings.Cut(rest, ":")
		f.field = fieldOf(name)
		if !ok || f.field == "" || len(q.filters) == filtersMost {
			return fmt.Errorf("%w: filter %.100q: want [!][=|~]FIELD:VALUE", ErrQuery, text)
		}
		if operator == "" && f.field != name { // the Wayback Machine's
			operator, value = "~", "^(?:"+value+")$"
		}
		switch operator {
		case "=":
			f.match = func(v string) bool { return v == value }
		case "~":
			re, err := regexp.Compile(value)
			if err != nil {
				return fmt.Errorf("%w: filter: %w", ErrQuery, err)
			}
			f.match = re.MatchString
		default:
			f.match = func(v string) bool { return strings.Contains(v, value) }
		}
		q.filters = append(q.filters, f)
	}
	return nil
}

// fieldOf returns the name of a field in an index; "" if it is none.
func fieldOf(name string) string {
	switch name {
	case "original":
		return "url"
	case "mimetype":
		return "mime"
	case "statuscode":
		return "status"
	}
	if name == "" || strings.ContainsAny(name, "\"\\{}, ") {
		return ""
	}
	return name
}
