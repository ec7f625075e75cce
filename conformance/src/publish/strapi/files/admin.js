'use strict';

module.exports = () => ({
  auth: { secret: 'peer-admin' },
  apiToken: { salt: 'peer-api' },
  transfer: { token: { salt: 'peer-transfer' } },
  secrets: { encryptionKey: '0123456789abcdef0123456789abcdef' },
  // its pages would have to be built first
  serveAdminPanel: false,
});
