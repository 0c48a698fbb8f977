package filter

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cputime"
)

// The limits for one compilation and one evaluation of an expression, in millions of steps of a hash: some seconds of
// CPU time.
const compileLimit, evaluateLimit = 5000, 2000

// baits returns texts that are expensive to compile.
func baits() []string {
	const n = expressionMax / 2
	list := []string{"'" + strings.Repeat("a", expressionMax) + "'"}
	for _, unit := range []string{"(", "[", "{", "!", "not ", "-", "a.", "a?.", "1+", "1..", "url matches 'a'|",
		"let a=1;", "url == '", "{a:", "all(", "filter([1],", "a ? ", "//", "/*", "\\", "\"", "`", "#", "1e", "0x", "??"} {
		list = append(list, strings.Repeat(unit, n/len(unit)), "true or "+strings.Repeat(unit, 100)+"1")
	}
	return append(list, "url matches '"+strings.Repeat("(a*)*", 1000)+"'", "url matches '(a{1000}){1000}'",
		"url matches '"+strings.Repeat("(", 2000)+strings.Repeat(")", 2000)+"'",
		"url matches '^("+strings.Repeat("a?", 1000)+strings.Repeat("a", 1000)+")$'", "1 in 1..1000000000",
		"len(1..1000000000) > 0", "repeat('a', 1000000000) == ''", "all(1..1000, all(1..1000, all(1..1000, # > 0)))",
		"len(map(1..1000000, repeat('a', 1000))) > 0", "1 << 1000000 > 0", "1 / 0 > 0", "int('9') % 0 == 0",
		"2 ** 100000 > 1")
}

// An expression that is too expensive is refused, or answered cautiously and counted. Regular expressions are matched
// in linear time.
func TestHostile_P12_expressionsAreNoBait(t *testing.T) {
	url := []byte("http://a.test/" + strings.Repeat("a", 2000))
	for _, text := range baits() {
		cost := cputime.Cost(3, compileLimit, func() {
			f, err := CompileFetch(text, nil)
			if err != nil && !errors.Is(err, ErrExpression) {
				t.Errorf("%.60q: %v", text, err)
			}
			if err == nil {
				f.Allows(url, Way{}, 0, nil)
			}
		}, cputime.Reference)
		if cost > compileLimit {
			t.Errorf("%.60q cost %.0f million steps of a hash", text, cost)
		}
	}
}

// FuzzExpression: no text causes a panic or takes long, when it is compiled or evaluated, at any of the five filter
// points.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{
		"all", "none", "host", "domain", "prefix", "depth < 5 and not seed", `domain == "example.org" && in_domain`,
		`host matches "^www[0-9]*\\."`, `split(path, "/")[9] == "x"`,
		`let h = host; h == "x"`, `kind == "image" and nofollow`, `content_type startsWith "text/" and status in [200, 203]`,
		"1 % (size - 12) == 0", `$env.domain == ""`,
		`any(split(path, "/"), # == "a")`, `domain_of(host) == via_domain`, "\xff", "(", `"\u`, "a?.b", "1..5",
		"{a: 1}.a == 1", "now()", "try ?? 1 == 2",
	} {
		f.Add(text, "http://www.example.org/a?b", "text/html")
	}
	f.Fuzz(func(t *testing.T, text, url, media string) {
		if strings.Count(text, "..") > 1 ||
			strings.ContainsAny(text, "#{") && strings.Count(text, "#")+strings.Count(text, "{") > 2 {
			return // nested loops may be slow: the operator asked for them
		}
		r := &Response{Status: 200, ContentType: []byte(media), Size: int64(len(url))}
		took := cputime.Best(1, func() {
			if p, err := CompileScope(text, nil); err == nil {
				p.Admits([]byte(url), Way{})
			} else if !errors.Is(err, ErrExpression) {
				t.Fatalf("%q: %v", text, err)
			}
			if p, err := CompileFetch(text, nil); err == nil {
				p.Allows([]byte(url), Way{Depth: 1}, 1, []byte(url))
			}
			if p, err := CompileParse(text, nil); err == nil {
				p.Reads([]byte(url), Way{Hops: 1}, r)
			}
			if p, err := CompileFollow(text, nil); err == nil {
				var via Via
				p.From(&via, []byte(url), r)
				p.Follows(&via, Link{URL: []byte(url), Kind: media})
			}
			if p, err := CompileStore(text, nil); err == nil {
				p.Keeps([]byte(url), Way{}, r)
			}
			if list, err := CompileStats([]string{"s=" + text}, nil, true); err == nil {
				list[0].Of([]byte(url), Way{}, r, Answer{})
			}
		})
		if took > time.Second && took > compileLimit*cputime.Best(3, cputime.Reference) {
			t.Fatalf("%q took %v of a processor", text, took)
		}
	})
}
