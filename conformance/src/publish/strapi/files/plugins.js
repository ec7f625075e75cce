'use strict';

module.exports = () => ({
  'users-permissions': { config: { jwtSecret: 'peer-users' } },
});
