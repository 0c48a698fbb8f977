// Package cdxserver answers queries of the CDX server API, as clients of pywb, the Wayback Machine and Common Crawl's
// index send them. It reads lines of a lookup.Lines and writes text; HTTP is left to its callers.
//
//	Parse -> Query.Write: lookup.Lines.Scan -> filters -> window (sort, closest) -> format -> writer
//
// # Dialects
//
// The servers of the field differ, and this one follows pywb: output=json is one object a line, and a filter without
// operator means "contains". The field names of the Wayback Machine (original, mimetype, statuscode) are understood,
// too: a filter with one of these names is a regular expression of the whole value, as there.
//
// # Costs
//
// Lines are written as they are found, and take no memory. For sort=reverse and sort=closest the best lines are kept,
// windowMost at most. Regular expressions take linear time. A line that is damaged is left out.
package cdxserver
