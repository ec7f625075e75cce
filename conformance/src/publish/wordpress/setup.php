<?php
// Installs a site and says who may enter it, as JSON on the last line.
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = '127.0.0.1:' . getenv('PEER_PORT');
$_SERVER['REQUEST_URI'] = '/';
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
require __DIR__ . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('Peer', 'admin', 'admin@example.com', true, '', wp_generate_password());
update_option('permalink_structure', '/%year%/%monthnum%/%postname%/');
$editor = wp_create_user('editor', wp_generate_password(), 'editor@example.com');
(new WP_User($editor))->set_role('editor');
$said = ['editor' => $editor];
foreach (['admin', 'editor'] as $name) {
    $user = get_user_by('login', $name);
    [$password, $item] = WP_Application_Passwords::create_new_application_password($user->ID, ['name' => 'peer']);
    $said[$name . 'Password'] = $password;
    $said[$name . 'Uuid'] = $item['uuid'];
}
echo "\n" . json_encode($said) . "\n";
