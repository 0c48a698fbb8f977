<?php
// Prints the address of each page in the database.
require_once '/usr/share/mediawiki/maintenance/Maintenance.php';

class PrintPages extends Maintenance {
	public function execute() {
		$rows = wfGetDB( DB_REPLICA )->select( 'page', [ 'page_namespace', 'page_title' ], '', __METHOD__ );
		foreach ( $rows as $row ) {
			echo Title::makeTitle( $row->page_namespace, $row->page_title )->getCanonicalURL(), "\n";
		}
	}
}

$maintClass = PrintPages::class;
require_once RUN_MAINTENANCE_IF_MAIN;
