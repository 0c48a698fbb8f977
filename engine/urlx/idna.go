package urlx

import (
	"strings"

	"golang.org/x/net/idna"
)

// hostProfile is the standard's "domain to ASCII" for names that are not plain ASCII: UTS 46, not transitional, hyphens
// and lengths unchecked. It is never changed.
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

// toASCII returns the ASCII form of a name in valid UTF-8.
func toASCII(name string) (string, error) {
	ascii, err := hostProfile.ToASCII(strings.Map(mapNewer, name))
	if err != nil {
		return "", ErrHost
	}
	return ascii, nil
}

// mapNewer applies the mappings by which UTS 46 of Unicode 16 differs from the tables in x/net: capitals that used to be
// refused, a sharp s that keeps its sharpness, invisible characters that are now ignored, and ideographs that were corrected.
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
