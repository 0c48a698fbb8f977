package message

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
)

// AppendRobotsRedirect appends a redirect, whose URL is whole in it.Rest.
func AppendRobotsRedirect(dst []byte, it *queued.URL) []byte {
	return queued.Append(append(dst, RobotsRedirect), it)
}

func readRobotsRedirect(item []byte) (queued.URL, error) {
	it, ok := queued.Decode(item[1:])
	if !ok || len(it.RobotsOf) == 0 {
		return queued.URL{}, fmt.Errorf("not a redirect of a robots.txt: %.200q", item)
	}
	return it, nil
}

func (c *checker) checkRobotsRedirect(it *queued.URL) error {
	if !c.isSite(it.RobotsOf) {
		return fmt.Errorf("a redirect of the robots.txt of no site: %.200q", it.RobotsOf)
	}
	return c.checkLink(it)
}

// AppendRobotsResult appends the result of a redirect.
func AppendRobotsResult(dst []byte, r *site.RobotsResult, now time.Time) []byte {
	dst = append(dst, RobotsResult, version)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(now.Add(-r.Age).UnixNano()))
	dst = queued.AppendBytes(dst, r.Site)
	if r.Rules == nil {
		return queued.AppendBytes(dst, nil)
	}
	return queued.AppendBytes(dst, r.Rules.Append(nil))
}

// readRobotsResult reads the result of a redirect, which owns its memory. rules holds its rules.
func readRobotsResult(item []byte, rules *site.RulesPool) (*site.RobotsResult, error) {
	r := new(site.RobotsResult)
	rest, ok := cutAge(&r.Age, item)
	if !ok {
		return nil, fmt.Errorf("not the result of a robots.txt: %.40q", item)
	}
	key, rest, ok := queued.CutBytes(rest)
	if !ok {
		return nil, fmt.Errorf("robots.txt rules of no site: %.200q", key)
	}
	r.Site = bytes.Clone(key)
	text, rest, ok := queued.CutBytes(rest)
	if !ok || len(rest) > 0 {
		return nil, fmt.Errorf("not the robots.txt rules of %.200q", key)
	}
	if r.Unreachable = len(text) == 0; r.Unreachable {
		return r, nil
	}
	var err error
	r.Rules, err = rules.Decode(text)
	return r, err
}
