package filter

// Lists are the plain rules that every URL is held against before the scope: lists of hosts, of SURT prefixes and of
// extensions. What is nil refuses nothing. It is compiled once and then only read.
type Lists struct {
	ExcludeHosts      *HostSet    // hosts to stay away from
	IncludeHosts      *HostSet    // if there is one, hosts must be in it
	SURTs             *SURTs      // see there
	ExcludeExtensions *Extensions // endings of paths to stay away from
}

// List names one of the Lists.
type List uint8

// The lists, in the order in which they are asked.
const (
	NoList List = iota
	ExcludeHosts
	IncludeHosts
	SURTPrefixes
	ExcludeExtensions
)

// None says that there is no list that could refuse anything.
func (l *Lists) None() bool { return l == nil || *l == Lists{} }

// Refuses gives the first list that refuses a URL in normal form (borrowed), NoList if none does. It does not allocate for
// names. What is no http or https URL is left to the scope.
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
