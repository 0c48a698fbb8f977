package message

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/internal/urlx"
)

// AppendRobotsRedirect appends a redirect, whose URL is whole in it.Rest.
func AppendRobotsRedirect(dst []byte, it *queued.URL) []byte {
	return queued.Append(append(dst, RobotsRedirect), it)
}

// ReadRobotsRedirect reads and checks a redirect, which borrows the item.
func ReadRobotsRedirect(item []byte) (queued.URL, error) {
	it, ok := queued.Decode(item[1:])
	if !ok || len(it.RobotsOf) == 0 || !isSiteKey(it.RobotsOf) {
		return queued.URL{}, fmt.Errorf("not a redirect of a robots.txt: %.200q", item)
	}
	url, err := urlx.Normalize(nil, it.Rest)
	if err != nil || !bytes.Equal(url, it.Rest) {
		return queued.URL{}, fmt.Errorf("a redirect that is not in normal form: %.200q", it.Rest)
	}
	return it, nil
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

// ReadRobotsResult reads and checks the result of a redirect, which owns its memory. rules holds its rules.
func ReadRobotsResult(item []byte, rules *site.RulesPool) (r site.RobotsResult, err error) {
	rest, ok := cutAge(&r.Age, item, RobotsResult)
	if !ok {
		return r, fmt.Errorf("not the result of a robots.txt: %.40q", item)
	}
	key, rest, ok := queued.CutBytes(rest)
	if !ok || !isSiteKey(key) {
		return r, fmt.Errorf("robots.txt rules of no site: %.200q", key)
	}
	r.Site = bytes.Clone(key)
	text, rest, ok := queued.CutBytes(rest)
	if !ok || len(rest) > 0 {
		return r, fmt.Errorf("not the robots.txt rules of %.200q", key)
	}
	if r.Unreachable = len(text) == 0; !r.Unreachable {
		r.Rules, err = rules.Decode(text)
	}
	return r, err
}
