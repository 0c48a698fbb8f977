package columns

import (
	"cmp"
	"strings"

	"orbweaver/derive"
)

// Row is a row of the table: cc-index-schema-flat without crawl and subset, the partition columns, which are in the
// path.
// Empty strings of optional columns are null, and so is a port of 0.
type Row struct {
	SURTKey          string `parquet:"url_surtkey,dict"`
	URL              string `parquet:"url,dict"`
	HostName         string `parquet:"url_host_name,dict"`
	TLD              string `parquet:"url_host_tld,optional,dict"`
	SecondLastPart   string `parquet:"url_host_2nd_last_part,optional,dict"`
	ThirdLastPart    string `parquet:"url_host_3rd_last_part,optional,dict"`
	FourthLastPart   string `parquet:"url_host_4th_last_part,optional,dict"`
	FifthLastPart    string `parquet:"url_host_5th_last_part,optional,dict"`
	RegistrySuffix   string `parquet:"url_host_registry_suffix,optional,dict"`
	RegisteredDomain string `parquet:"url_host_registered_domain,optional,dict"`
	PrivateSuffix    string `parquet:"url_host_private_suffix,optional,dict"`
	PrivateDomain    string `parquet:"url_host_private_domain,optional,dict"`
	HostReversed     string `parquet:"url_host_name_reversed,optional,dict"`
	Protocol         string `parquet:"url_protocol,dict"`
	Port             int32  `parquet:"url_port,optional,dict"`
	Path             string `parquet:"url_path,dict"`
	Query            string `parquet:"url_query,optional,dict"`
	Time             int64  `parquet:"fetch_time,timestamp(millisecond)"`
	Status           int16  `parquet:"fetch_status,int(16),dict"`
	Redirect         string `parquet:"fetch_redirect,optional,dict"`
	Digest           string `parquet:"content_digest,optional"`
	MIMEType         string `parquet:"content_mime_type,optional,dict"`
	MIMEDetected     string `parquet:"content_mime_detected,optional,dict"`
	Charset          string `parquet:"content_charset,optional,dict"`
	Languages        string `parquet:"content_languages,optional,dict"`
	Truncated        string `parquet:"content_truncated,optional,dict"`
	File             string `parquet:"warc_filename,dict"`
	Offset           int32  `parquet:"warc_record_offset"`
	Length           int32  `parquet:"warc_record_length"`
	Segment          string `parquet:"warc_segment,dict"`
}

// capture is what is kept of a record until its row is written.
type capture struct {
	key, url, redirect, digest string
	mime, detected, charset    string
	truncated, languages       string
	time                       int64 // milliseconds
	offset, length             int32
	status                     int16
	memory                     int
}

// captureBytes is the memory of a capture without its texts.
const captureBytes = 192

// row returns the row of a capture in a file.
func (c *capture) row(file, segment string) Row {
	u := splitURL(c.url)
	h := describeHost(u.host)
	return Row{
		SURTKey: c.key, URL: c.url, HostName: h.name, TLD: h.parts[0], SecondLastPart: h.parts[1],
		ThirdLastPart: h.parts[2], FourthLastPart: h.parts[3], FifthLastPart: h.parts[4],
		RegistrySuffix: h.registrySuffix, RegisteredDomain: h.registeredDomain,
		PrivateSuffix: h.privateSuffix, PrivateDomain: h.privateDomain, HostReversed: h.reversed,
		Protocol: u.scheme, Port: u.port, Path: u.path, Query: u.query,
		Time: c.time, Status: c.status, Redirect: c.redirect,
		Digest: c.digest, MIMEType: c.mime, MIMEDetected: c.detected, Charset: c.charset,
		Languages: c.languages, Truncated: c.truncated, File: file, Offset: c.offset, Length: c.length, Segment: segment,
	}
}

// detect returns the media type by content and the character set of a record: what the archive says, or else what the
// first bytes show.
func detect(rec *derive.Record) (media, charset string) {
	found, charset := rec.Identify()
	return cmp.Or(rec.Get("WARC-Identified-Payload-Type"), found), charsetName(charset)
}

// charsetName returns a name of the Encoding Standard in the spelling of Java, which Common Crawl's table has.
func charsetName(name string) string {
	switch {
	case name == "big5":
		return "Big5"
	case name == "shift_jis":
		return "Shift_JIS"
	case strings.HasPrefix(name, "windows-"):
		return name
	}
	return strings.ToUpper(name)
}
