package filter

// Lists are the simple rules that are checked before the scope: lists of hosts, SURT prefixes and extensions. A nil
// list refuses nothing. They are read-only after they are compiled.
type Lists struct {
	ExcludeHosts      *HostSet    // excluded hosts
	IncludeHosts      *HostSet    // if not nil, only these hosts are allowed
	SURTs             *SURTs      // allowed and excluded SURT prefixes
	ExcludeExtensions *Extensions // excluded extensions
}

// List names one of the Lists.
type List uint8

// The lists, in the order of the checks.
const (
	NoList List = iota
	ExcludeHosts
	IncludeHosts
	SURTPrefixes
	ExcludeExtensions
)

// IsEmpty reports whether there is no list.
func (l *Lists) IsEmpty() bool { return *l == Lists{} }

// Refuses returns the first list that refuses a normal form (borrowed), or NoList. It does not allocate for names. It
// returns NoList for other strings than http and https URLs.
func (l *Lists) Refuses(url []byte) List {
	p, ok := split(url)
	switch {
	case !ok:
		return NoList
	case l.ExcludeHosts != nil && l.ExcludeHosts.Has(p.host):
		return ExcludeHosts
	case l.IncludeHosts != nil && !l.IncludeHosts.Has(p.host):
		return IncludeHosts
	case l.SURTs != nil && !l.SURTs.admits(p):
		return SURTPrefixes
	case l.ExcludeExtensions != nil && l.ExcludeExtensions.has(p.path):
		return ExcludeExtensions
	default:
		return NoList
	}
}
