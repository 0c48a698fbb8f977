package urlx

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// idnaStepsMax is the most that IDNA may cost for one name, in steps of Punycode. Punycode (RFC 3492) scans a label
// once for each distinct non-ASCII code point in it, so its time is quadratic in the length. A name of four labels of
// 63 different code points needs this much. No DNS name needs more, because an ASCII label has at most 63 bytes. The
// URL standard has no such limit; the longer labels in its test suites stay below this one.
const idnaStepsMax = 4 * 63 * 63

// hostProfile is the standard's "domain to ASCII" for non-ASCII names: UTS 46, nontransitional, without checks of
// hyphens and lengths. It is never changed.
var hostProfile = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.VerifyDNSLength(false),
	idna.ValidateLabels(true),
	idna.CheckHyphens(false),
	idna.CheckJoiners(true),
	idna.BidiRule(),
)

// toASCII returns the ASCII form of a name in valid UTF-8. A name that would cost more than idnaStepsMax is refused
// before IDNA processes it.
func toASCII(name string) (string, error) {
	if idnaSteps(name) > idnaStepsMax {
		return "", ErrHost
	}
	ascii, err := hostProfile.ToASCII(strings.Map(mapNewer, name))
	if err != nil {
		return "", ErrHost
	}
	return ascii, nil
}

// mapNewer applies the mappings in which UTS 46 of Unicode 16 differs from the tables of x/net: capital letters that
// were refused, the sharp s that is preserved, invisible characters that are now ignored, and corrected ideographs.
func mapNewer(r rune) rune {
	const ignored = -1
	switch {
	case r < 0x04C0:
		return r
	case r >= 0x10A0 && r <= 0x10C5: // Georgian Asomtavruli
		return r - 0x10A0 + 0x2D00
	case r >= 0x206A && r <= 0x206F, r >= 0x1D173 && r <= 0x1D17A:
		return ignored
	}
	switch r {
	case 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFFA0:
		return ignored
	case 0x04C0:
		return 0x04CF
	case 0x1E9E:
		return 0x00DF
	case 0x2132:
		return 0x214E
	case 0x2183:
		return 0x2184
	case 0x2F868:
		return 0x36FC
	case 0x2F874:
		return 0x5F53
	case 0x2F91F:
		return 0x243AB
	case 0x2F95F:
		return 0x7AEE
	case 0x2F9BF:
		return 0x45D7
	}
	return r
}

// idnaSteps returns an upper limit of the Punycode steps for a name: for each label, its code points times its distinct
// non-ASCII code points. A label that is Punycode already is decoded and encoded again, and has at most as many code
// points as bytes. The code points are counted after IDNA's mapping: ignored ones removed, composed, compatibility
// characters expanded. Sorting them takes most of the time.
func idnaSteps(name string) int {
	name = strings.Map(mapDot, norm.NFKC.String(strings.Map(dropIgnored, name)))
	steps := 0
	var beyond []rune // the non-ASCII code points of a label
	for label := range strings.SplitSeq(name, ".") {
		if len(label) > 4 && strings.EqualFold(label[:4], "xn--") {
			steps += len(label) * len(label)
			continue
		}
		beyond = beyond[:0]
		for _, r := range label {
			if r >= utf8.RuneSelf {
				beyond = append(beyond, r)
			}
		}
		n := utf8.RuneCountInString(label)
		slices.Sort(beyond)
		steps += n * len(slices.Compact(beyond))
	}
	return steps
}

// mapDot maps to a full stop what IDNA takes for a full stop and NFKC does not change.
func mapDot(r rune) rune {
	if r == 0x3002 {
		return '.'
	}
	return r
}

// dropIgnored drops the code points that IDNA's mapping removes.
func dropIgnored(r rune) rune {
	switch {
	case r < 0xAD:
	case r == 0xAD, r == 0x34F, r >= 0x180B && r <= 0x180F, r == 0x200B, r == 0x2060, r == 0x2064, r == 0xFEFF,
		r >= 0xFE00 && r <= 0xFE0F, r >= 0x1BCA0 && r <= 0x1BCA3, r >= 0xE0100 && r <= 0xE01EF:
		return -1
	default:
		return mapNewer(r)
	}
	return r
}
