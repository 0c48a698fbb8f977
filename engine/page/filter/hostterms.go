package filter

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/internal/options"
)

// RobotsIgnored returns a line for each rule by which robots.txt forbids nothing: its hosts and the reason.
func (r *HostRules) RobotsIgnored() (lines []string) {
	for _, one := range r.rules {
		if one.terms.IgnoreRobots {
			lines = append(lines, one.pattern()+": "+one.terms.RobotsReason)
		}
	}
	return lines
}

// term returns a key and its value as a rule has them.
func (r *hostRule) term(key int) string {
	switch {
	case key == termDelay:
		return "host-delay=" + r.terms.HostDelay.String()
	case key == termCap:
		return fmt.Sprintf("max-per-host=%d", r.terms.MaxPerHost)
	case key == termGroup && r.terms.GroupDelay > 0:
		return fmt.Sprintf("group=%s group-delay=%v", r.terms.Group, r.terms.GroupDelay)
	case key == termGroup:
		return "group=" + cmp.Or(r.terms.Group, noGroup)
	case key == termNotBefore:
		return "not-before=" + r.terms.NotBefore.Format(time.RFC3339)
	case key >= termConnect:
		return timeoutNames()[key-termConnect] + "=" + r.terms.Timeouts.of(key).String()
	case key == termBandwidth:
		return "host-bandwidth=" + options.FormatRate(r.terms.Bandwidth)
	case key == termAgent:
		return fmt.Sprintf("user-agent=%q", r.terms.UserAgent)
	case key == termRobots && r.terms.IgnoreRobots:
		return fmt.Sprintf("robots=ignore reason=%q", r.terms.RobotsReason)
	case key == termRobots:
		return "robots=obey"
	case r.terms.Exclude:
		return "exclude"
	default:
		return "exclude=no"
	}
}

// hostTerms names what a rule may say.
const hostTerms = "host-delay=TIME, max-per-host=N, host-bandwidth=RATE, not-before=DATE, exclude, exclude=no, " +
	"group=NAME, group-delay=TIME, connect-timeout=TIME, response-timeout=TIME, slow-body-timeout=TIME, " +
	"exchange-timeout=TIME, " +
	"user-agent=\"TEXT\", robots=obey, robots=ignore reason=\"TEXT\""

// termTextMax is the longest text of a term, in bytes.
const termTextMax = 1 << 10

func readHostRule(text string) (hostRule, error) {
	words, err := SplitTerms(text)
	if err != nil {
		return hostRule{}, fmt.Errorf("%w: %q: %w", ErrRule, text, err)
	}
	if len(words) < 2 {
		return hostRule{}, fmt.Errorf("%w: %q: a host and then some of %s", ErrRule, text, hostTerms)
	}
	host, err := readRule(words[0])
	if err != nil {
		return hostRule{}, err
	}
	r := hostRule{rule: host}
	for _, word := range words[1:] {
		if err := r.read(word); err != nil {
			return hostRule{}, fmt.Errorf("%w: %q: %w", ErrRule, text, err)
		}
	}
	if r.terms.GroupDelay > 0 && r.terms.Group == "" {
		return hostRule{}, fmt.Errorf("%w: %q: group-delay needs group=NAME", ErrRule, text)
	}
	if r.terms.IgnoreRobots != (r.terms.RobotsReason != "") {
		return hostRule{}, fmt.Errorf(
			"%w: %q: robots=ignore needs a reason, which goes into the archive, such as "+
				"robots=ignore reason=\"legal deposit act, section 5\"", ErrRule, text,
		)
	}
	return r, nil
}

// SplitTerms splits a rule at its blanks, except those between double quotes.
func SplitTerms(text string) (words []string, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		end := 0
		for end < len(text) && text[end] != ' ' && text[end] != '\t' {
			if text[end] != '"' {
				end++
				continue
			}
			quoted, err := strconv.QuotedPrefix(text[end:])
			if err != nil {
				return nil, errors.New("a text has no closing quote")
			}
			end += len(quoted)
		}
		words, text = append(words, text[:end]), text[end:]
	}
	return words, nil
}

// read parses one key and its value.
func (r *hostRule) read(word string) (err error) {
	key, value, valued := strings.Cut(word, "=")
	number := termExclude
	switch {
	case key == "host-delay" && valued:
		number = termDelay
		r.terms.HasDelay = true
		if r.terms.HostDelay, err = readDelay(key, value); err != nil {
			return err
		}
	case key == "max-per-host" && valued:
		number = termCap
		r.terms.HasCap = true
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil {
			return fmt.Errorf("max-per-host=%s is no number of pages", value)
		}
		r.terms.MaxPerHost = int(n)
	case key == "group" && valued:
		number = termGroup
		if r.terms.Group, err = readGroup(value); err != nil {
			return err
		}
	case key == "group-delay" && valued && r.terms.GroupDelay == 0: // of group
		r.terms.GroupDelay, err = readDelay(key, value)
		return err
	case slices.Contains(timeoutNames(), key) && valued:
		number = termConnect + slices.Index(timeoutNames(), key)
		if *r.terms.Timeouts.of(number), err = readDelay(key, value); err != nil || *r.terms.Timeouts.of(number) == 0 {
			return fmt.Errorf("%s=%s is no time such as 10s between 1ms and 24h", key, value)
		}
	case key == "host-bandwidth" && valued:
		number = termBandwidth
		r.terms.Bandwidth, err = options.ParseRate(value)
		if err != nil || r.terms.Bandwidth < bandwidth.RateMin {
			return fmt.Errorf("host-bandwidth=%s is no rate such as 100KiB/s, of at least 1KiB/s", value)
		}
	case key == "not-before" && valued:
		number = termNotBefore
		if r.terms.NotBefore, err = time.Parse(time.RFC3339, value); err != nil {
			return fmt.Errorf("not-before=%s is no time such as 2027-01-31T12:00:00Z", value)
		}
		r.terms.NotBefore = r.terms.NotBefore.UTC()
	case key == "user-agent" && valued:
		number = termAgent
		if r.terms.UserAgent, err = termText(key, value); err != nil {
			return err
		}
	case word == "robots=obey", word == "robots=ignore":
		number = termRobots
		r.terms.IgnoreRobots = value == "ignore"
	case key == "reason" && valued && r.terms.RobotsReason == "": // of robots
		r.terms.RobotsReason, err = termText(key, value)
		return err
	case word == "exclude", word == "exclude=yes":
		r.terms.Exclude = true
	case word == "exclude=no":
	default:
		return fmt.Errorf("%q is none of %s", word, hostTerms)
	}
	if r.keys[number] {
		return errors.New(key + " stands there twice")
	}
	r.keys[number] = true
	return nil
}

// readDelay reads a delay.
func readDelay(key, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d > HostDelayMax {
		return 0, fmt.Errorf("%s=%s is no time such as 10s between 0 and 24h", key, value)
	}
	return d, nil
}

// termText reads a text, in quotes or without blanks.
func termText(key, value string) (string, error) {
	text := value
	if strings.HasPrefix(value, `"`) {
		var err error
		if text, err = strconv.Unquote(value); err != nil {
			return "", fmt.Errorf("%s=%s: the text is not well quoted", key, value)
		}
	}
	if strings.TrimSpace(text) == "" || len(text) > termTextMax ||
		strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f || c == '#' }) {
		return "", fmt.Errorf("%s: want a text of at most %d bytes on one line, without #", key, termTextMax)
	}
	return text, nil
}
