<?php
// One installation serves several sites: what is a site's own comes from the environment.
$own = getenv('PEER_FOLDER');
$url = 'http://127.0.0.1:' . getenv('PEER_PORT');
define('DB_NAME', 'wordpress');
define('DB_USER', 'nobody');
define('DB_PASSWORD', 'nothing');
define('DB_HOST', 'localhost');
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
define('DB_DIR', $own . '/database');
define('DB_FILE', 'wordpress.sqlite');
define('WPMU_PLUGIN_DIR', $own . '/mu-plugins');
foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT'] as $name) {
    define($name, hash('sha256', $name . 'peer'));
}
$table_prefix = 'wp_';
define('WP_HOME', $url);
define('WP_SITEURL', $url);
// application passwords want https elsewhere
define('WP_ENVIRONMENT_TYPE', 'local');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('WP_ACCESSIBLE_HOSTS', '127.0.0.1,localhost');
define('DISABLE_WP_CRON', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
define('WP_DEBUG', false);
if (!defined('ABSPATH')) {
    define('ABSPATH', __DIR__ . '/');
}
require_once ABSPATH . 'wp-settings.php';
