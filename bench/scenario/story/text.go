package story

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/expr-lang/expr"
)

// line is a line of a file of stories, with the lines below it that are indented.
type line struct {
	place string // file:number
	text  string
	block []line
}

// script is a story as its file has it.
type script struct {
	name  string
	attrs map[string]string // of the line "story"
	head  []line            // of the file, in front of its first story
	cases []map[string]any  // values of the cases; at least one
	lines []line
}

// read reads the stories of a file.
func read(file string) (all []script, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parse(filepath.Base(file), string(b)), nil
}

// parse reads the stories of a text. name is in the places of its lines.
func parse(name, text string) (all []script) {
	var head []line
	for i, text := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(text)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		l := line{place: fmt.Sprintf("%s:%d", name, i+1), text: trimmed}
		verb, rest, _ := strings.Cut(trimmed, " ")
		isBlock := unicode.IsSpace(rune(text[0]))
		switch {
		case verb == "story" && !isBlock:
			words := split(rest)
			all = append(all, script{name: words[0], attrs: attributes(words[1:]), head: head})
			continue
		case len(all) == 0:
			head = extend(head, l, isBlock)
		default:
			s := &all[len(all)-1]
			s.lines = extend(s.lines, l, isBlock)
		}
	}
	for i := range all {
		all[i].findCases()
	}
	return all
}

func extend(lines []line, l line, isBlock bool) []line {
	if !isBlock {
		return append(lines, l)
	}
	last := &lines[len(lines)-1]
	last.block = append(last.block, l)
	return lines
}

// findCases takes the lines "case" and "each" out of a story: each case is run with each value of "each".
func (s *script) findCases() {
	var named, rest []line
	s.cases = []map[string]any{{}}
	for _, l := range s.lines {
		verb, text, _ := strings.Cut(l.text, " ")
		switch verb {
		case "case":
			named = append(named, line{place: l.place, text: text})
		case "each":
			name, values, _ := strings.Cut(text, ":")
			var more []map[string]any
			for _, c := range s.cases {
				for _, value := range split(values) {
					more = append(more, with(c, name, value, value))
				}
			}
			s.cases = more
		default:
			rest = append(rest, l)
		}
	}
	s.lines = rest
	if len(named) == 0 {
		return
	}
	var more []map[string]any
	for _, n := range named {
		title, values, _ := strings.Cut(n.text, ":")
		for _, c := range s.cases {
			c = with(c, "case", title, title)
			for name, value := range attributes(split(values)) {
				c[name] = number(value)
			}
			more = append(more, c)
		}
	}
	s.cases = more
}

// with returns the values of a case with one more, and with a longer title.
func with(c map[string]any, name, value, title string) map[string]any {
	before, _ := c[titleOf].(string)
	more := map[string]any{name: number(value), titleOf: strings.TrimPrefix(before+", "+title, ", ")}
	for k, v := range c {
		if _, has := more[k]; !has {
			more[k] = v
		}
	}
	return more
}

// titleOf is the name of the value that has the title of a case.
const titleOf = "title"

// number is the number that a text is, or the text.
func number(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return text
}

// split splits words at spaces. A part in double or back quotes has no quotes then, and may have spaces.
func split(text string) (words []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		var word strings.Builder
		for text != "" && text[0] != ' ' {
			if quoted, err := strconv.QuotedPrefix(text); err == nil && text[0] != '\'' {
				plain, _ := strconv.Unquote(quoted)
				word.WriteString(plain)
				text = text[len(quoted):]
				continue
			}
			word.WriteByte(text[0])
			text = text[1:]
		}
		words = append(words, word.String())
	}
	return words
}

// attributes are words of the form name=value. A word without a value has the value "true".
func attributes(words []string) map[string]string {
	all := map[string]string{}
	for _, word := range words {
		name, value, has := strings.Cut(word, "=")
		if !has {
			value = "true"
		}
		all[name] = value
	}
	return all
}

// spread replaces a word $name by the words of its text: a value may be a whole answer, or several settings. "${name}"
// is one word.
func spread(words []string, env map[string]any) (all []string) {
	for _, word := range words {
		value, isText := env[strings.TrimPrefix(word, "$")].(string)
		if isText && strings.HasPrefix(word, "$") {
			all = append(all, split(value)...)
		} else {
			all = append(all, word)
		}
	}
	return all
}

// expandAll expands each word.
func expandAll(words []string, env map[string]any) []string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = expand(word, env)
	}
	return all
}

// expand replaces $name and ${expression} by their values.
func expand(text string, env map[string]any) string {
	if !strings.Contains(text, "$") {
		return text
	}
	return os.Expand(text, func(name string) string {
		value, err := expr.Eval(seconds(name), env)
		_, known := env[name]
		switch {
		case err == nil && (value != nil || known):
			return fmt.Sprint(value)
		case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }):
			return "${" + name + "}"
		}
		return "$" + name
	})
}

// seconds replaces times in an expression, such as 1h30m, by numbers of seconds. Texts in quotes stay as they are.
func seconds(text string) string {
	if !strings.ContainsAny(text, "0123456789") {
		return text
	}
	times := regexp.MustCompile("\"(\\\\.|[^\"])*\"|`[^`]*`|\\b(\\d+(\\.\\d+)?(ms|s|m|h|d))+\\b")
	return times.ReplaceAllStringFunc(text, func(found string) string {
		if found[0] == '"' || found[0] == '`' {
			return found
		}
		days, rest, has := strings.Cut(found, "d")
		if !has {
			days, rest = "0", found
		}
		n, _ := strconv.ParseFloat(days, 64)
		d, _ := time.ParseDuration("0s" + rest)
		return strconv.FormatFloat(n*24*60*60+d.Seconds(), 'f', -1, 64)
	})
}
